// First, so that in the built page what is there twice, such as the curves of the library and our own table of them, is
// close together: gzip finds a repetition only within 32 kB.
import './page-verify.js';
import '../core/evidence/inflate-exactly.js';
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
