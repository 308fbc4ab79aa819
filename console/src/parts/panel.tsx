import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef, useState } from "preact/hooks";
import { t } from "../messages";

/** What stands over the map: at its side, or at the bottom of a phone, where it folds. When it is about something else it begins at its top. */
export function Panel({ title, about = "", children }: { title: string; about?: string; children: ComponentChildren }) {
  const [open, setOpen] = useState(true);
  const id = useId();
  const body = useRef<HTMLDivElement>(null);
  const shown = useRef(about);
  useEffect(() => {
    if (shown.current === about || !body.current) return;
    shown.current = about;
    body.current.scrollTop = 0;
    // Who chose it by keyboard goes on here: what had the focus is gone.
    if (document.activeElement === document.body) body.current.focus();
  }, [about]);
  return (
    <section class={open ? "panel" : "panel folded"} aria-label={title}>
      <button type="button" class="fold" aria-expanded={open} aria-controls={id} onClick={() => setOpen(!open)}>
        {open ? t.panel.hide : t.panel.show}
      </button>
      <div class="panel-body" id={id} hidden={!open} tabIndex={-1} ref={body}>
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
