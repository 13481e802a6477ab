/** An asset of the demo, and what its Owner records on it, the oldest first. */
interface DemoAsset {
  readonly public?: boolean;
  readonly attributes: Readonly<Record<string, string>>;
  readonly events: readonly Readonly<Record<string, string>>[];
}

const REQUEST = 'customer_request';
const NOTICE = 'notice';
const RECEIVED = 'Request received';
const ANSWERED = 'Request answered';
const REVIEWED = 'Notice reviewed';
const A_YEAR_IN_SECONDS = '31536000';

/** How the demo's public asset is found again. */
export const PUBLIC_ASSET_QUERY = `attributes.arc_display_type=${NOTICE}&page_size=1`;

/** A request that was answered, one that waits for its answer, and a notice that everybody may read. */
export const DEMO_ASSETS: readonly DemoAsset[] = [
  {
    attributes: { arc_display_name: 'Request 17: a copy of a call', arc_display_type: REQUEST },
    events: [
      { arc_display_type: RECEIVED, arc_correlation_value: 'request-17' },
      { arc_display_type: ANSWERED, arc_correlation_value: 'request-17' },
    ],
  },
  {
    attributes: { arc_display_name: 'Request 18: who has heard a call', arc_display_type: REQUEST },
    events: [{ arc_display_type: RECEIVED, arc_correlation_value: 'request-18' }],
  },
  {
    public: true,
    attributes: {
      arc_display_name: 'How we record calls',
      arc_display_type: NOTICE,
      arc_description: 'We record calls to check deliveries. You can ask for a copy, and for its deletion.',
    },
    events: [{ arc_display_type: 'Notice published' }, { arc_display_type: REVIEWED }],
  },
];

/** Policies of the demo, each with the path that creates it. */
export const DEMO_POLICIES: readonly (readonly [path: string, body: object])[] = [
  [
    '/archivist/v1/compliance_policies',
    {
      compliance_type: 'COMPLIANCE_CURRENT_OUTSTANDING',
      display_name: 'Requests of customers are answered',
      asset_filter: [{ or: [`attributes.arc_display_type=${REQUEST}`] }],
      event_display_type: RECEIVED,
      closing_event_display_type: ANSWERED,
    },
  ],
  [
    '/archivist/v1/compliance_policies',
    {
      compliance_type: 'COMPLIANCE_SINCE',
      display_name: 'Notices are reviewed every year',
      asset_filter: [{ or: [`attributes.arc_display_type=${NOTICE}`] }],
      event_display_type: REVIEWED,
      time_period_seconds: A_YEAR_IN_SECONDS,
    },
  ],
  [
    '/archivist/iam/v1/access_policies',
    {
      display_name: 'Auditors read all conversations',
      filters: [{ or: ['attributes.arc_display_type=vcon'] }],
      access_permissions: [
        {
          user_attributes: [{ or: ['group:auditors'] }],
          behaviours: ['*'],
          asset_attributes_read: ['*'],
          event_arc_display_type_read: ['*'],
        },
      ],
    },
  ],
];
