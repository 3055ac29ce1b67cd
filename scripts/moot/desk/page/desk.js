// A key presses the button with its name, but not while the user types.
addEventListener("keydown", (event) => {
  const hasModifier = event.ctrlKey || event.metaKey || event.altKey;
  const isTyping = event.target.closest("input, textarea, select");
  if (hasModifier || event.repeat || isTyping) return;
  const buttons = [...document.querySelectorAll("button[data-key]")];
  const button = buttons.find(({ dataset }) => dataset.key === event.key);
  if (!button) return;
  event.preventDefault();
  button.click();
});

// A form is sent only once, even if the user clicks several times.
for (const form of document.forms) {
  form.addEventListener("submit", (event) => {
    if (form.dataset.sent) event.preventDefault();
    form.dataset.sent = "yes";
  });
}

addEventListener("pageshow", (event) => {
  if (event.persisted) location.reload();
});

// While no question is open, look for the next one, and show the state of the debates on the page.
const REFRESH_INTERVAL_MS = 700;
const waitingNotice = document.querySelector("[data-wait]");
if (waitingNotice) setInterval(refreshNotice, REFRESH_INTERVAL_MS);

async function refreshNotice() {
  const response = await fetch(location.href).catch(() => null);
  if (response?.redirected) {
    location.assign(response.url);
  } else if (response?.ok) {
    const page = new DOMParser().parseFromString(await response.text(), "text/html");
    const newNotice = page.querySelector("[data-wait]");
    if (newNotice.textContent !== waitingNotice.textContent) {
      waitingNotice.replaceChildren(...newNotice.childNodes);
    }
  } else {
    waitingNotice.textContent =
      "The desk does not respond. It was closed, or opened again at another address. " +
      "The answers that you sent are saved.";
  }
}
