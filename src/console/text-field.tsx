import { useId } from 'preact/hooks';

interface TextFieldProps {
  readonly label: string;
  readonly help: string;
  readonly fault?: string | undefined;
  readonly good?: string | undefined;
  readonly value: string;
  readonly rows: number;
  onText(text: string): void;
}

/** A field for lines of text, with what it is for, what is wrong, or that it is good. */
export function TextField({ label, help, fault, good, value, rows, onText }: TextFieldProps) {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <textarea
        id={id}
        rows={rows}
        value={value}
        spellcheck={false}
        autocomplete="off"
        autocapitalize="off"
        aria-invalid={fault !== undefined}
        aria-describedby={`${id}-help`}
        onInput={(event) => onText(event.currentTarget.value)}
      />
      <p id={`${id}-help`} class={fault ? 'fault' : good ? 'good' : 'hint'}>
        {fault ?? good ?? help}
      </p>
    </div>
  );
}
