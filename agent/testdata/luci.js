// Runs the page of LuCI as LuCI does, beside stubs of what it gives to pages, and presses
// its buttons. It prints what the page asked the router for, and what it showed, as JSON.
const [file, ...steps] = process.argv.slice(2);
const asked = [];
const shown = [];
const options = {};

class Node {
  constructor(name, attributes = {}, children = []) {
    Object.assign(this, { name, attributes, children: [children].flat(9), value: "" });
    this.textContent = this.children.filter((c) => typeof c === "string").join("");
  }
  find(test) {
    return test(this) ? this : this.children.reduce((found, c) => found ?? (c instanceof Node ? c.find(test) : null), null);
  }
}
const E = (name, attributes, children) =>
  typeof attributes === "object" && !Array.isArray(attributes) ? new Node(name, attributes, children ?? []) : new Node(name, {}, attributes ?? []);
const section = { option: (kind, name) => (options[name] = { kind }) };
const given = {
  form: { Map: class { section() { return section; } async render() { return new Node("form"); } }, NamedSection: {}, Value: "Value", DynamicList: "DynamicList" },
  fs: {
    async exec(path, words) {
      asked.push([path, ...words].join(" "));
      return words[0] === "link" ? { code: 1, stderr: "beacon-agent: refused: the code is wrong\n" } : { code: 0, stdout: `${words[0]} is done\n` };
    },
  },
  poll: { add: (ask, seconds) => asked.push(`poll ${seconds}`) },
  ui: { addNotification: (_, what, kind) => shown.push(`${kind}: ${what.textContent}`), createHandlerFn: (self, act) => act.bind(self) },
  uci: { load: async (name) => asked.push(`uci ${name}`) },
  view: { extend: (page) => page },
};

const source = require("node:fs").readFileSync(file, "utf8");
const needs = [...source.matchAll(/^'require ([a-z]+)';$/gm)].map((m) => m[1]);
const page = new Function("E", "_", ...needs, source)(E, (text) => text, ...needs.map((name) => given[name]));

(async () => {
  const root = new Node("page", {}, await page.render(await page.load()));
  for (const step of steps) {
    const [button, text] = step.split("=");
    if (text !== undefined) root.find((n) => n.attributes.id === "beacon-code").value = text;
    await root.find((n) => n.name === "button" && n.textContent === button).attributes.click();
  }
  const status = root.find((n) => n.attributes.id === "beacon-status").textContent;
  const addresses = ["https://a.example", "http://10.0.0.1", "a.example", "javascript:x", "https:// "].filter((a) => options.url.validate("agent", a) === true);
  console.log(JSON.stringify({ asked, shown, status, options: Object.keys(options), hidden: options.enrol_key.password, addresses }));
})();
