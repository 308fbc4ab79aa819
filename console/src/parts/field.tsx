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
  return <Framed label={label} hint={hint} fault={fault} control={(marks) => <input {...marks} {...(input as InputHTMLAttributes<HTMLInputElement>)} />} />;
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
  options: [value: string, name: string][];
  onChange: (value: string) => void;
  fault?: string;
}

export function Choice({ label, name, value, options, onChange, fault }: ChoiceProps) {
  return (
    <Framed
      label={label}
      fault={fault}
      control={(marks) => (
        <select {...marks} name={name} value={value} onChange={(event) => onChange(event.currentTarget.value)}>
          {options.map(([option, text]) => (
            <option key={option} value={option}>
              {text}
            </option>
          ))}
        </select>
      )}
    />
  );
}

interface CheckProps {
  label: string;
  name?: string;
  value?: string;
  checked: boolean;
  onChange: (checked: boolean) => void;
}

export function Check({ label, onChange, ...input }: CheckProps) {
  return (
    <label class="check">
      <input type="checkbox" {...input} onChange={(event) => onChange(event.currentTarget.checked)} />
      {label}
    </label>
  );
}

interface Marks {
  id: string;
  "aria-invalid": "true" | undefined;
  "aria-describedby": string | undefined;
}

interface FrameProps {
  label: string;
  hint?: string | undefined;
  fault: string | undefined;
  control: (marks: Marks) => ComponentChildren;
}

/** Puts a label above a control, and a remark below it: the hint, or the fault in its place. */
function Framed({ label, hint, fault, control }: FrameProps) {
  const id = useId();
  const kind = fault ? "fault" : "hint";
  const remark = fault || hint;
  const remarkId = `${id}-${kind}`;
  return (
    <div class={fault ? "field faulty" : "field"}>
      <label for={id}>{label}</label>
      {control({ id, "aria-invalid": fault ? "true" : undefined, "aria-describedby": remark ? remarkId : undefined })}
      {remark && (
        <p class={kind} id={remarkId}>
          {remark}
        </p>
      )}
    </div>
  );
}
