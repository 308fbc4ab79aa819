import type { ComponentChildren } from "preact";
import { useId, useState } from "preact/hooks";

/** What stands over the map: at its side, or at the bottom of a phone, where it folds. */
export function Panel({ title, children }: { title: string; children: ComponentChildren }) {
  const [open, setOpen] = useState(true);
  const id = useId();
  return (
    <section class={open ? "panel" : "panel folded"} aria-label={title}>
      <button type="button" class="fold" aria-expanded={open} aria-controls={id} onClick={() => setOpen(!open)}>
        {open ? "Hide" : "Show"} panel
      </button>
      <div class="panel-body" id={id} hidden={!open}>
        {children}
      </div>
    </section>
  );
}

export interface Tab {
  id: string;
  name: string;
}

/** A choice of few, as a group of buttons of which one is pressed. */
export function Tabs({ label, tabs, chosen, onChoose }: { label: string; tabs: Tab[]; chosen: string; onChoose: (id: string) => void }) {
  return (
    <div class="tabs" role="group" aria-label={label}>
      {tabs.map(({ id, name }) => (
        <button key={id} type="button" aria-pressed={id === chosen} onClick={() => onChoose(id)}>
          {name}
        </button>
      ))}
    </div>
  );
}
