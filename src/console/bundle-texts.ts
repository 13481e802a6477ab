/** The words of the page inside a bundle. */
export const BUNDLE_TEXTS = {
  title: (count: number) => (count === 1 ? 'Evidence of one operation' : `Evidence of ${count} operations`),
  untitled: 'Evidence',
  introduction:
    'This page contains the evidence of a bundle. It is checked here, in your browser. Nothing is uploaded.',
  cameWith: 'This page came with the evidence: check it with a verifier that you have from elsewhere',
  forged:
    'Somebody who forges evidence can also forge a page that calls it verified. These verifiers do not depend on this page:',
  elsewhere: (version: string) => [
    'The page /verify of a service that you trust. Type its address yourself, and drop the bundle on it.',
    `The same page as one file. Its SHA-256 is the one that "npm run pages:hashes" prints in the sources of vcon-archivist ${version}.`,
    'The command vcon-archivist verify. It also says whether this page is a known one.',
  ],
  contents: (count: number) => `${count} files are in this page`,
  unreadable: (why: string) => `The evidence in this page cannot be read: ${why}.`,
} as const;
