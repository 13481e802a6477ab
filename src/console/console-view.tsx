import { AccessView } from './access-view.js';
import { ApplicationsView } from './applications-view.js';
import { AuditView } from './audit-view.js';
import { atOnceOf } from './compliance-reader.js';
import { ComplianceView } from './compliance-view.js';
import { type View, viewsFor } from './console-navigation.js';
import { CONSOLE_TEXTS } from './console-texts.js';
import { OPERATOR_TEXTS } from './operator-texts.js';
import { PeopleView } from './people-view.js';
import type { PlaceLink } from './place-link.js';
import { ServiceView } from './service-view.js';
import type { KeptReading } from './use-compliance.js';
import { WebhooksView } from './webhooks-view.js';

interface ViewProps extends PlaceLink {
  readonly view: Exclude<View, 'find'>;
  readonly parameters: URLSearchParams;
  readonly isOwner: boolean;
  /** What compliance has read. */
  readonly kept: KeptReading;
}

/** The title of a view, and what it is for. */
export function titlesOf(view: View): { readonly title: string; readonly introduction: string } {
  if (view === 'find') return CONSOLE_TEXTS;
  return view === 'compliance' ? CONSOLE_TEXTS.compliance : OPERATOR_TEXTS[view];
}

/** Any view but the search. What a view may show the service decides again, with every request. */
export function ConsoleView({ view, parameters, isOwner, kept, onGo }: ViewProps) {
  if (!viewsFor(isOwner).includes(view)) return <p class="banner unreadable">{CONSOLE_TEXTS.forOwners}</p>;
  switch (view) {
    case 'compliance':
      return (
        <ComplianceView
          policy={parameters.get('policy') ?? ''}
          atOnce={atOnceOf(parameters.get('page_size'))}
          kept={kept}
          onGo={onGo}
        />
      );
    case 'applications':
      return <ApplicationsView />;
    case 'access':
      return <AccessView />;
    case 'people':
      return <PeopleView />;
    case 'audit':
      return <AuditView outcome={parameters.get('outcome') ?? ''} onGo={onGo} />;
    case 'webhooks':
      return <WebhooksView />;
    case 'service':
      return <ServiceView />;
  }
}
