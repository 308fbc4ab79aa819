import type { AllHTMLAttributes, ComponentChildren, InputHTMLAttributes } from "preact";
import { useId } from "preact/hooks";

type Input = Omit<AllHTMLAttributes<HTMLInputElement>, "id" | "label" | "role">;

interface Props extends Input {
  label: string;
  hint?: string;
  fault?: string;
}

/** An input with its label, and with the fault that was found with it. */
export function Field({ label, hint, fault, ...input }: Props) {
  const id = useId();
  return (
    <div class={fault ? "field faulty" : "field"}>
      <label for={id}>{label}</label>
      <input
        id={id}
        aria-invalid={fault ? "true" : undefined}
        aria-describedby={describedBy(id, hint, fault)}
        {...(input as InputHTMLAttributes<HTMLInputElement>)}
      />
      <Remarks id={id} hint={hint} fault={fault} />
    </div>
  );
}

/** Where a list is searched by name; the server takes no longer text. */
export function SearchField({ label, value, onSearch }: { label: string; value: string; onSearch: (text: string) => void }) {
  return (
    <Field
      label={label}
      type="search"
      name="q"
      maxLength={50}
      autoComplete="off"
      spellcheck={false}
      value={value}
      onInput={(event) => onSearch(event.currentTarget.value)}
    />
  );
}

interface ChoiceProps {
  label: string;
  name?: string;
  value: string;
  onChange: (value: string) => void;
  hint?: string;
  fault?: string;
  children: ComponentChildren;
}

export function Choice({ label, name, value, onChange, hint, fault, children }: ChoiceProps) {
  const id = useId();
  return (
    <div class={fault ? "field faulty" : "field"}>
      <label for={id}>{label}</label>
      <select
        id={id}
        name={name}
        value={value}
        aria-invalid={fault ? "true" : undefined}
        aria-describedby={describedBy(id, hint, fault)}
        onChange={(event) => onChange(event.currentTarget.value)}
      >
        {children}
      </select>
      <Remarks id={id} hint={hint} fault={fault} />
    </div>
  );
}

function describedBy(id: string, hint?: string, fault?: string): string | undefined {
  if (fault) return `${id}-fault`;
  return hint ? `${id}-hint` : undefined;
}

function Remarks({ id, hint, fault }: { id: string; hint: string | undefined; fault: string | undefined }) {
  return (
    <>
      {fault && (
        <p class="fault" id={`${id}-fault`}>
          {fault}
        </p>
      )}
      {hint && !fault && (
        <p class="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
    </>
  );
}
