import { useRef } from 'preact/hooks';

interface ChooserProps {
  readonly label: string;
  readonly isPrimary?: boolean;
  readonly chooses: 'file' | 'files' | 'folder';
  onFiles(files: FileList): void;
}

/** A button that opens the browser's own dialog. */
export function FileChooser({ label, isPrimary = false, chooses, onFiles }: ChooserProps) {
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <button type="button" class={isPrimary ? 'primary' : ''} onClick={() => input.current?.click()}>
        {label}
      </button>
      <input
        ref={input}
        type="file"
        hidden
        multiple={chooses !== 'file'}
        {...(chooses === 'folder' ? { webkitdirectory: true } : {})}
        aria-label={label}
        onChange={({ currentTarget }) => {
          if (currentTarget.files && currentTarget.files.length > 0) onFiles(currentTarget.files);
          // A browser does not tell of a file that is chosen once more.
          currentTarget.value = '';
        }}
      />
    </>
  );
}
