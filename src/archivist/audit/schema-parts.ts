/**
 * What the migrations make that the database runs or enforces by itself, each with the SHA-256 of how it is made. `npm run
 * schema` writes this file; the audit compares a database with it.
 */
// biome-ignore format: one line for each part
export const SCHEMA_PARTS = {
  'function access_policy_weight(filters jsonb, permissions jsonb)': 'bc075ee72dd9c5aaefde848c347341326ad87703c1b8092b8191679c3b865225',
  'function asset_event_terms(tenancy uuid, event_attributes jsonb, asset_attributes jsonb, principal_declared jsonb, principal_accepted jsonb, operation text, behaviour text, from_address text)': '5640b0d9c3f5ce1761a654d0f4f13bf63e6017e5c228b46b991adbd76fa8cc99',
  'function asset_free_event_terms(tenancy uuid, attributes jsonb, trails jsonb, event_type text, created_by text)': '7c493b0d2a1d49b7fe127208f9eec37e5c9f2b269bf8b2d6fe99b0a3a8b9148d',
  'function asset_terms(tenancy uuid, attributes jsonb, tracked boolean)': 'f50f56eb43babcb16d6778210d84bbc5d13225c745047e746b672ab7f65e01b5',
  'function attributes_at(tenant uuid, asset uuid, until timestamp with time zone)': 'c74944f351d2483d51ef7b2a6476368e0d4fd0ae958c42cdd0c6d7a8dcd9c8bc',
  'function confirmed_shares(mine uuid)': '82e309514294e0b731cbc8797e3665fbb10636e8f536114e780de364251aa7c9',
  'function count_asset_events(tenancy uuid, places text[], names text[], texts text[], most bigint)': '45f5427c226a1b645af1bec43d4317d9b655cc435ee3412976ff09114964a63a',
  'function count_asset_free_events(tenancy uuid, places text[], names text[], texts text[], most bigint)': 'ec6ece649e5f8658b975bcdb00e52d0d71fdeee781dc6b662c5af1cb3eda0eb7',
  'function count_assets(tenancy uuid, places text[], names text[], texts text[], most bigint)': 'b6e6706aab7bb78ed117971e9b05cb883bde3877d270f7332bb6e82a1d2dc679',
  'function find_asset_events(tenancy uuid, places text[], names text[], texts text[], beyond uuid, newest boolean, most integer)': '1644755ec1f5a54028db42aa3909a94520d595a0bc16de984491c4710a9f8899',
  'function find_asset_free_events(tenancy uuid, places text[], names text[], texts text[], beyond uuid, newest boolean, most integer)': '3a1a02583bd8cd3844206a855fabc4a55c4eec07e1e47c76e9c7b17f202095c2',
  'function find_assets(tenancy uuid, places text[], names text[], texts text[], beyond uuid, newest boolean, most integer)': 'ed4ffed53a20ee019aaf09188e582fae20882e42525307d2e8539c4f5f33693c',
  'function isolate_by_tenancy(isolated regclass, granted text)': '61013bce16942eb6822730ffd4e99b85e7ebb7835eca4e554c85f3cca0e1a3fc',
  'function out_of_step(event_id uuid, accepted_at timestamp with time zone)': '7520ee9cc12f47d93a535a695d001bad36d13d3bb171fdf3de43d1ed01dbb69d',
  'function past_sharers(mine uuid)': 'a6b46e32021da1e230a0c678eb796b2b5a4cc53ba3ab8c369c33906e8a05beba',
  'function readable_tenancies()': '4d1c37cd10fd00afd60f2703c7f5433e5bfee874cc650f66987f019e868cdbcc',
  'function search_term(tenancy uuid, place text, name text, value text)': '5d9a19631fa4b38c9df0e51fc78795117e2d7c4413095bd27708dd9564c2757d',
  'function searched_terms(tenancy uuid, places text[], names text[], texts text[])': '2af2c9d1861b71a0dbd8c08c660c3636f56ffed7bda531d26363258ee00d44a2',
  'function system_scope()': '3cfe98106281baa7b8ef8e4affb9f8b3d9d2c6e5e3e5346fe10035b9aa37bef4',
  'function tracked_at(tenant uuid, asset uuid, until timestamp with time zone)': '42c82aeb17b2720600f316d7e98a7969b0e767421042c6b3db512382b577d7cb',
  'function weigh_access_policy()': 'c7b21f118c603103232101346dc0543c47c11b45844927e34a3613a31b224316',
  'function writable_tenancies()': 'cc0853795dce077912830a51a182fe064a82618f57dcd5ec571b22ff7af9b0d6',
  'policy readable of 58 tables': '18f6433a55df014eda0f4990097d4a7757f366bfe8dd851407500e220cae34b3',
  'policy searched of 3 tables': '58028a89d8d813b38f105e50233fd016b3a72e2035ae4c2eeb9f53350d0049b0',
  'policy writable of 58 tables': '3cd4ff8e99f72b1f77954b1b41d95370a326a1babdb50bf1f2eefcbec95b37f6',
  'row-level security of 2 tables': 'ab97a1f30e577f3fb679d4b2b67fbc1dfc30700501ed7969ae7bee28c693a78f',
  'row-level security of 58 tables': '58da67f67fd35f245e872227fe38340c9f7f6f5dfac962e5c8197cb54a8e8326',
  'trigger weighed of access_policy': '513a57cdd9704cbe28e04988706b6aa3158308126233a8c953b75279dc588451',
} as const;
