import { useId, useRef } from 'preact/hooks';
import type { EvidenceFile } from '../core/evidence/evidence-file.js';
import { kindName } from '../core/evidence/evidence-kind.js';
import { EvidenceText } from './evidence-text.js';
import { TEXTS } from './texts.js';

interface ChooserProps {
  readonly label: string;
  readonly isFolder: boolean;
  readonly isFirst: boolean;
  onFiles(files: FileList): void;
}

/** A button that opens the browser's own dialog. */
function Chooser({ label, isFolder, isFirst, onFiles }: ChooserProps) {
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <button type="button" class={isFirst ? 'primary' : ''} onClick={() => input.current?.click()}>
        {label}
      </button>
      <input
        ref={input}
        type="file"
        hidden
        multiple
        {...(isFolder ? { webkitdirectory: true } : {})}
        aria-label={label}
        onChange={({ currentTarget }) => {
          if (currentTarget.files && currentTarget.files.length > 0) onFiles(currentTarget.files);
        }}
      />
    </>
  );
}

interface FileListProps {
  readonly files: readonly EvidenceFile[];
  readonly isOver: boolean;
  onFiles(files: FileList): void;
  onRemove(path: string): void;
  onClear(): void;
}

/** Where files are dropped, and those that are there. */
export function FileArea({ files, isOver, onFiles, onRemove, onClear }: FileListProps) {
  const title = useId();
  return (
    <section class={isOver ? 'card drop over' : 'card drop'} aria-labelledby={title}>
      <h2 id={title}>{isOver ? TEXTS.dropHere : TEXTS.filesTitle}</h2>
      {files.length > 0 && (
        <ul class="files">
          {files.map(({ path, takenFor }) => (
            <li key={path}>
              <span>
                <strong>
                  <EvidenceText text={path} />
                </strong>{' '}
                <span class="hint">{TEXTS.takenFor(kindName(takenFor))}</span>
              </span>
              <button type="button" class="quiet" aria-label={TEXTS.remove(path)} onClick={() => onRemove(path)}>
                ×
              </button>
            </li>
          ))}
        </ul>
      )}
      <p class="choose">
        <Chooser label={TEXTS.chooseFiles} isFolder={false} isFirst={files.length === 0} onFiles={onFiles} />{' '}
        <Chooser label={TEXTS.chooseFolder} isFolder isFirst={false} onFiles={onFiles} />{' '}
        {files.length > 0 ? (
          <button type="button" class="quiet" onClick={onClear}>
            {TEXTS.clear}
          </button>
        ) : (
          <span class="hint">{TEXTS.orDrop}</span>
        )}
      </p>
    </section>
  );
}
