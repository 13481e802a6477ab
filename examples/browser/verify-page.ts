// Verifies files that the reader chooses. Nothing is sent anywhere: the page may not even make a request.
import { examineTransparentStatement, readKeyDocument } from 'vcon-archivist/core';

async function bytesOf(id: string): Promise<Uint8Array> {
  const file = document.querySelector<HTMLInputElement>(`#${id}`)?.files?.[0];
  if (!file) throw new Error(`choose a file: ${id}`);
  return new Uint8Array(await file.arrayBuffer());
}

async function verdictOf(): Promise<string> {
  const verdict = await examineTransparentStatement(await bytesOf('statement'), {
    document: await bytesOf('document'),
    logKeys: readKeyDocument(await bytesOf('logKeys')),
    issuerKeys: readKeyDocument(await bytesOf('issuerKeys')),
  });
  const found = verdict.contradictions.map(({ code, detail }) => `${code}: ${detail}`);
  return [verdict.outcome.toUpperCase(), ...found].join('\n');
}

document.querySelector('#verify')?.addEventListener('click', () => {
  const shown = document.querySelector('#verdict')!;
  shown.textContent = '';
  verdictOf().then(
    (text) => (shown.textContent = text),
    (error: unknown) => (shown.textContent = String(error)),
  );
});
