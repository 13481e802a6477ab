// First, so that the curves of the library stand beside those of our own: what is there twice then packs as once.
import './page-verify.js';
import { render } from 'preact';
import { Frame } from './frame.js';
import { TEXTS } from './texts.js';
import { Verifier } from './verifier.js';

render(
  <Frame title={TEXTS.title} introduction={TEXTS.introduction} isSaved>
    <Verifier />
  </Frame>,
  document.getElementById('page')!,
);
