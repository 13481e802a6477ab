import { useEffect, useState } from 'preact/hooks';
import type { GivenFile } from './given-files.js';
import { droppedFiles } from './picked-files.js';

/** Takes files that are dropped anywhere on the page; returns whether some are held over it. */
export function useDrop(take: (given: Promise<readonly GivenFile[]>) => void): boolean {
  const [isOver, setOver] = useState(false);
  useEffect(() => {
    const over = (event: DragEvent) => {
      if (!event.dataTransfer?.types.includes('Files')) return;
      event.preventDefault();
      setOver(true);
    };
    const leave = (event: DragEvent) => {
      if (event.relatedTarget === null) setOver(false);
    };
    const drop = (event: DragEvent) => {
      if (!event.dataTransfer?.types.includes('Files')) return;
      event.preventDefault();
      setOver(false);
      take(droppedFiles(event.dataTransfer));
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
