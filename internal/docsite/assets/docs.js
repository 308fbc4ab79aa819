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

// Shows what the search finds while someone types. Enter shows all of it on a page of its own.
function searchWhileTyping() {
  const form = document.querySelector(".search");
  const input = form.querySelector("input");
  const found = document.createElement("div");
  found.className = "found";
  found.hidden = true;
  found.setAttribute("role", "region");
  found.setAttribute("aria-label", "Found");
  const told = document.createElement("p");
  told.className = "told";
  told.setAttribute("role", "status");
  form.append(found, told);
  let timer = 0;
  let asking = new AbortController();
  const close = () => {
    clearTimeout(timer);
    asking.abort();
    found.hidden = true;
    told.textContent = "";
  };
  const show = async () => {
    asking.abort();
    asking = new AbortController();
    try {
      const response = await fetch(`${form.action}?only=hits&q=${encodeURIComponent(input.value)}`, { signal: asking.signal });
      if (!response.ok) return;
      const page = new DOMParser().parseFromString(await response.text(), "text/html");
      found.replaceChildren(...page.body.childNodes);
      found.hidden = false;
      const count = found.querySelectorAll(".hits a").length;
      told.textContent = count === 0 ? "Nothing was found." : count === 1 ? "One place was found." : `${count} places were found.`;
    } catch {
      // something else is being looked for, or there is no network: Enter says so
    }
  };
  input.setAttribute("autocomplete", "off");
  input.addEventListener("input", () => {
    clearTimeout(timer);
    if (input.value.trim().length < 2) close();
    else timer = setTimeout(show, 150);
  });
  form.addEventListener("keydown", (event) => {
    const links = [...found.querySelectorAll(".hits a")];
    const at = links.indexOf(document.activeElement);
    if (event.key === "Escape" && !found.hidden) {
      close();
      input.focus();
    } else if (event.key === "ArrowDown" && !found.hidden) links[Math.min(at + 1, links.length - 1)]?.focus();
    else if (event.key === "ArrowUp" && at >= 0) (links[at - 1] ?? input).focus();
    else return;
    event.preventDefault();
  });
  found.addEventListener("click", (event) => {
    if (event.target.closest("a")) close(); // it may be on this page
  });
  document.addEventListener("pointerdown", (event) => {
    if (!form.contains(event.target)) close();
  });
  form.addEventListener("focusout", (event) => {
    if (event.relatedTarget && !form.contains(event.relatedTarget)) close();
  });
}

// The reader's key: that with which this tab is signed in to the console, or one that was
// typed here, which is kept until the tab is closed.
const keyPlace = "beacon-docs-key";
function readersKey() {
  try {
    return sessionStorage.getItem(keyPlace) ?? sessionStorage.getItem("beacon-key") ?? "";
  } catch {
    return "";
  }
}

// Adds to each example a form that sends it, to this server and with the reader's key.
function addTrials() {
  for (const example of document.querySelectorAll("pre.curl[data-method]")) {
    const open = document.createElement("button");
    open.type = "button";
    open.className = "send";
    open.textContent = "Try it here";
    (example.closest(".copy") ?? example).after(open);
    open.addEventListener("click", () => open.replaceWith(trial(example.dataset)));
  }
}

const shown = 20_000; // letters of an answer

function trial({ method, path, header, key, kind, body }) {
  const form = document.createElement("form");
  form.className = "trial";
  const add = (name, element, value) => {
    const label = document.createElement("label");
    label.append(name, element);
    element.value = value;
    element.spellcheck = false;
    form.append(label);
    return element;
  };
  const field = (name, value, type = "text") => {
    const input = document.createElement("input");
    input.type = type;
    input.autocomplete = "off";
    return add(name, input, value);
  };
  const to = field(`Request: ${method}`, path);
  const content = body ? add("Body", document.createElement("textarea"), body) : null;
  if (content) {
    try {
      content.value = JSON.stringify(JSON.parse(body), null, 2);
    } catch {
      // not JSON: as it is
    }
    content.rows = Math.min(content.value.split("\n").length + 1, 16);
  }
  const secret = header ? field("Key", key || readersKey(), "password") : null;
  if (secret && !key) secret.placeholder = "As you are signed in to the console, or bcn_…";
  if (method !== "GET") {
    const warning = document.createElement("p");
    warning.className = "small";
    warning.textContent = "This is no rehearsal: it does on this server what the key may do.";
    form.append(warning);
  }
  const send = document.createElement("button");
  send.className = "send";
  send.textContent = "Send";
  const status = document.createElement("p");
  status.setAttribute("role", "status");
  const answer = document.createElement("pre");
  answer.className = "output";
  answer.tabIndex = 0;
  answer.hidden = true;
  form.append(send, status, answer);
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const open = /\{[^}]*\}/.exec(to.value);
    if (open) {
      status.textContent = `Put a value in the place of ${open[0]} first.`;
      to.focus();
      return;
    }
    const url = new URL(to.value, location.href);
    if (url.origin !== location.origin) {
      status.textContent = "Requests go to this server only.";
      return;
    }
    const headers = {};
    if (content) headers["Content-Type"] = kind;
    const given = secret?.value.trim() ?? "";
    if (given) {
      const colon = header.indexOf(": ");
      headers[header.slice(0, colon)] = header.slice(colon + 2) + given;
    }
    if (given && !key && given !== readersKey()) {
      try {
        sessionStorage.setItem(keyPlace, given);
      } catch {
        // then it is for this form alone
      }
    }
    send.disabled = true;
    status.textContent = "…";
    try {
      const began = performance.now();
      const response = await fetch(url, { method, headers, ...(content && { body: content.value }), credentials: given ? "omit" : "same-origin", cache: "no-store" });
      let text = await response.text();
      status.textContent = `${response.status} ${response.statusText}, after ${Math.round(performance.now() - began)} ms`;
      try {
        text = JSON.stringify(JSON.parse(text), null, 2);
      } catch {
        // as it is
      }
      answer.textContent = text.length > shown ? `${text.slice(0, shown)}…` : text;
      answer.hidden = text === "";
    } catch {
      status.textContent = "The server cannot be reached. Try again in a moment.";
    }
    send.disabled = false;
  });
  return form;
}

addEventListener("DOMContentLoaded", () => {
  addThemeSwitch();
  addCopyButtons();
  searchWhileTyping();
  addTrials();
});
