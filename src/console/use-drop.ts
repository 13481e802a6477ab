import { useEffect, useState } from 'preact/hooks';
import type { GivenFile } from './given-files.js';
import { droppedFiles } from './picked-files.js';

/** What is dropped on the page; undefined over a field for files, where the browser itself puts them. */
function filesFor({ dataTransfer, target }: DragEvent): DataTransfer | undefined {
  if (target instanceof HTMLInputElement && target.type === 'file') return undefined;
  return dataTransfer?.types.includes('Files') ? dataTransfer : undefined;
}

/** Takes files that are dropped anywhere on the page; returns whether some are held over it. */
export function useDrop(take: (given: Promise<readonly GivenFile[]>) => void): boolean {
  const [isOver, setOver] = useState(false);
  useEffect(() => {
    const over = (event: DragEvent) => {
      const files = filesFor(event);
      setOver(files !== undefined);
      if (files) event.preventDefault();
    };
    const leave = (event: DragEvent) => {
      if (event.relatedTarget === null) setOver(false);
    };
    const drop = (event: DragEvent) => {
      const files = filesFor(event);
      setOver(false);
      if (!files) return;
      event.preventDefault();
      take(droppedFiles(files));
    };
    document.addEventListener('dragover', over);
    document.addEventListener('dragleave', leave);
    document.addEventListener('drop', drop);
    return () => {
      document.removeEventListener('dragover', over);
      document.removeEventListener('dragleave', leave);
      document.removeEventListener('drop', drop);
    };
  }, [take]);
  return isOver;
}
