// Light, dark, or what the system prefers, as in the console, which keeps the choice in the
// same place on this device.
const place = "beacon-theme";
const marks = { system: "◐", light: "☀", dark: "☾" };
let theme = "system";
try {
  const kept = localStorage.getItem(place);
  if (Object.hasOwn(marks, kept)) theme = kept;
} catch {
  // a browser that keeps nothing
}

// It is done at once, before anything is drawn.
function applyTheme() {
  if (theme === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
}
applyTheme();

function addThemeSwitch() {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "theme";
  const themes = Object.keys(marks);
  const next = () => themes[(themes.indexOf(theme) + 1) % themes.length];
  const show = () => {
    button.textContent = marks[theme];
    button.title = `Theme: ${theme}. Change to ${next()}.`;
    button.ariaLabel = button.title;
  };
  button.addEventListener("click", () => {
    theme = next();
    try {
      if (theme === "system") localStorage.removeItem(place);
      else localStorage.setItem(place, theme);
    } catch {
      // then it holds for this page
    }
    applyTheme();
    show();
  });
  show();
  document.querySelector(".bar .console").before(button);
}

// Adds a button to each block of code that copies it. Browsers offer the clipboard only
// to pages that came over TLS or from this machine.
function addCopyButtons() {
  if (!navigator.clipboard) return;
  for (const code of document.querySelectorAll("pre:not(.output)")) {
    const frame = document.createElement("div");
    frame.className = "copy";
    code.replaceWith(frame);
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = "Copy";
    button.addEventListener("click", async () => {
      try {
        await navigator.clipboard.writeText(code.textContent.trimEnd());
        button.textContent = "Copied";
      } catch {
        button.textContent = "Not allowed";
      }
      setTimeout(() => { button.textContent = "Copy"; }, 2000);
    });
    frame.append(code, button);
  }
}

addEventListener("DOMContentLoaded", () => {
  addThemeSwitch();
  addCopyButtons();
});
