import { useId } from 'preact/hooks';
import type { EvidenceFile } from '../core/evidence/evidence-file.js';
import { kindName } from '../core/evidence/evidence-kind.js';
import { EvidenceText } from './evidence-text.js';
import { FileChooser } from './file-chooser.js';
import { TEXTS } from './texts.js';

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
        <FileChooser label={TEXTS.chooseFiles} chooses="files" isPrimary={files.length === 0} onFiles={onFiles} />{' '}
        <FileChooser label={TEXTS.chooseFolder} chooses="folder" onFiles={onFiles} />{' '}
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
