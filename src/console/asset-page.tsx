import { render } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { publishedEvents, readObject } from '../core/evidence/published-asset.js';
import { ASSET_TEXTS } from './asset-texts.js';
import { AssetView, type ShownAsset, titleOf } from './asset-view.js';
import { checkAsset } from './check-asset.js';
import { Frame } from './frame.js';
import { NoAnswer } from './no-answer.js';
import { faultText, readService } from './read-service.js';
import { hasVerdict } from './result-view.js';
import { StatedCheck } from './stated-check.js';
import { useAnswerFocus } from './use-answer-focus.js';
import { useCheck } from './use-check.js';
import { useStatedTrust } from './use-stated-trust.js';

/** Older clients know the asset under a path without a version; its events and receipts are the same. */
const ADDRESS = `${location.origin}${location.pathname.replace(/\/+$/, '').replace(/\/archivist\/publicassets\//, '/archivist/v2/publicassets/')}`;

/** As the interface calls it: the asset is shown as it was then. */
const AT = new URLSearchParams(location.search).get('at_time') ?? undefined;
const STATE = AT === undefined ? ADDRESS : `${ADDRESS}?${new URLSearchParams({ at_time: AT })}`;

function useAsset() {
  const [found, setFound] = useState<{ readonly asset?: ShownAsset; readonly fault?: string }>({});
  const ask = () => {
    Promise.all([readObject(STATE, readService), publishedEvents(ADDRESS, readService, () => undefined)])
      .then(([asset, events]) => setFound({ asset: { asset, events: events as ShownAsset['events'] } }))
      .catch((error: unknown) => setFound({ fault: faultText(error) }));
  };
  useEffect(ask, []);
  return { ...found, ask };
}

function AssetPage() {
  const { asset, fault, ask: askAgain } = useAsset();
  const trust = useStatedTrust();
  /** How often the reader has asked for a check. */
  const [asked, setAsked] = useState(0);
  const isReady = asked > 0 && trust.isReadable;
  const check = (tell: (done: string) => void) => checkAsset(ADDRESS, trust.reader, tell);
  const checked = useCheck(isReady ? check : undefined, [trust.own, isReady, asked]);
  const { result, progress } = checked;
  const { heading, ask } = useAnswerFocus(result);
  const isBusy = progress !== undefined;
  const start = () => {
    if (isBusy) return;
    ask();
    setAsked(asked + 1);
  };
  return (
    <Frame
      title={ASSET_TEXTS.title(asset ? titleOf(asset) : '')}
      introduction={ASSET_TEXTS.introduction}
      isSaved={false}
    >
      <p class="choose">
        <button type="button" class="primary" aria-disabled={isBusy} onClick={start}>
          {ASSET_TEXTS.check}
        </button>{' '}
        <span class="hint">{ASSET_TEXTS.checkHelp}</span>
      </p>
      <StatedCheck isStarted={asked > 0} trust={trust} check={checked} heading={heading} />
      {asset ? (
        <AssetView shown={asset} address={ADDRESS} at={AT} isChecked={hasVerdict(result)} />
      ) : fault === undefined ? (
        <p class="part" role="status">
          {ASSET_TEXTS.loading}
        </p>
      ) : (
        <NoAnswer why={fault} onAgain={askAgain} />
      )}
    </Frame>
  );
}

render(<AssetPage />, document.getElementById('page')!);
