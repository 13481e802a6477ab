/** Explanations of the core are parts of sentences, for a terminal's lines; on a page each stands by itself. */
export const asSentence = (text: string): string => text.replace(/^[a-z](?=[a-z]* )/, (first) => first.toUpperCase());
