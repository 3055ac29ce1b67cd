// A key presses the button that names it; no key does while one writes.
addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.repeat || event.target.closest("input, textarea, select")) return;
  const button = [...document.querySelectorAll("button[data-key]")].find((one) => one.dataset.key === event.key);
  if (button) { event.preventDefault(); button.click(); }
});
// A form is sent once, however often one clicks.
for (const form of document.forms) {
  form.addEventListener("submit", (event) => { if (form.dataset.sent) event.preventDefault(); form.dataset.sent = "yes"; });
}
addEventListener("pageshow", (event) => { if (event.persisted) location.reload(); });
// A colleague's link ends in a token, which goes to the desk in a form, and stays in no address.
if (location.hash.length > 20) {
  const form = document.createElement("form"), token = document.createElement("input");
  Object.assign(form, { method: "post", action: `${location.pathname}enter`, hidden: true });
  Object.assign(token, { name: "token", value: location.hash.slice(1) });
  history.replaceState(null, "", location.pathname);
  form.append(token); document.body.append(form); form.submit();
}
// While nothing is open, look for the next question; what the debates do meanwhile is said on the page.
const waiting = document.querySelector("[data-wait]");
if (waiting) {
  setInterval(async () => {
    const page = await fetch(location.href).catch(() => null);
    if (page?.redirected) location.assign(page.url);
    else if (page?.ok) {
      const found = new DOMParser().parseFromString(await page.text(), "text/html").querySelector("[data-wait]");
      if (found.textContent !== waiting.textContent) waiting.replaceChildren(...found.childNodes);
    } else waiting.textContent = "The desk does not answer: it was closed, or opened anew at another address. What you sent is saved.";
  }, 700);
}
