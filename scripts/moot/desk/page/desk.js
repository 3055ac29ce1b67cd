// A key presses the button with its name, but not while the user types.
addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.repeat || event.target.closest("input, textarea, select")) return;
  const button = [...document.querySelectorAll("button[data-key]")].find(({ dataset }) => dataset.key === event.key);
  if (button) { event.preventDefault(); button.click(); }
});
// A form is sent only once, even if the user clicks several times.
for (const form of document.forms) {
  form.addEventListener("submit", (event) => { if (form.dataset.sent) event.preventDefault(); form.dataset.sent = "yes"; });
}
addEventListener("pageshow", (event) => { if (event.persisted) location.reload(); });
// A colleague's link ends in a token. It is sent to the desk in a form and removed from the address.
if (location.hash.length > 20) {
  const form = document.createElement("form"), token = document.createElement("input");
  Object.assign(form, { method: "post", action: `${location.pathname}enter`, hidden: true });
  Object.assign(token, { name: "token", value: location.hash.slice(1) });
  history.replaceState(null, "", location.pathname);
  form.append(token); document.body.append(form); form.submit();
}
// While no question is open, look for the next one, and show the state of the debates on the page.
const waiting = document.querySelector("[data-wait]");
if (waiting) {
  setInterval(async () => {
    const page = await fetch(location.href).catch(() => null);
    if (page?.redirected) location.assign(page.url);
    else if (page?.ok) {
      const found = new DOMParser().parseFromString(await page.text(), "text/html").querySelector("[data-wait]");
      if (found.textContent !== waiting.textContent) waiting.replaceChildren(...found.childNodes);
    } else waiting.textContent = "The desk does not respond. It was closed, or opened again at another address. The answers that you sent are saved.";
  }, 700);
}
