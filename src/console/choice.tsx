import type { ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';
import { visibleLine } from '../core/evidence/visible-text.js';

interface ChoiceProps<Value extends string> {
  readonly label: string;
  readonly value: Value;
  readonly options: readonly (readonly [value: Value, text: string])[];
  readonly help?: string;
  readonly isInline?: boolean;
  readonly isRequired?: boolean;
  /** What stands beside it. */
  readonly children?: ComponentChildren;
  onChoose(value: Value): void;
}

/** A field with one of several values, with its label and its help. */
export function Choice<Value extends string>(props: ChoiceProps<Value>) {
  const { label, value, options, help, isInline, isRequired, children, onChoose } = props;
  const id = useId();
  return (
    <div class={isInline ? 'field inline' : 'field'}>
      <label for={id}>{label}</label>
      <select
        id={id}
        value={value}
        required={isRequired ?? false}
        aria-describedby={help && `${id}-help`}
        onChange={(event) => onChoose(event.currentTarget.value as Value)}
      >
        {options.map(([name, text]) => (
          <option key={name} value={name}>
            {visibleLine(text)}
          </option>
        ))}
      </select>
      {help && (
        <p id={`${id}-help`} class="hint">
          {help}
        </p>
      )}
      {children}
    </div>
  );
}
