/** The last of the migrations. */
export const LAST_MIGRATION = '000063_delete_members';

/**
 * What the migrations make that the database runs or enforces by itself, each with the SHA-256 of how it is made. `npm run
 * schema` writes this file; the audit compares a database with it.
 */
// biome-ignore format: one line for each part
export const SCHEMA_PARTS = {
  'function access_policy_weight(filters jsonb, permissions jsonb)': 'bc075ee72dd9c5aaefde848c347341326ad87703c1b8092b8191679c3b865225',
  'function asset_event_terms(tenancy uuid, event_attributes jsonb, asset_attributes jsonb, principal_declared jsonb, principal_accepted jsonb, operation text, behaviour text, from_address text)': '7e84413c7ec023cc30b1bab954d9a4cb0db99426c3999a1a30296155ac5e82aa',
  'function asset_free_event_terms(tenancy uuid, attributes jsonb, trails jsonb, event_type text, created_by text)': 'a590b1fa6ad6f66d340f61da087015271f945edaf5862ccbdfbbd4584a395482',
  'function asset_terms(tenancy uuid, attributes jsonb, tracked boolean)': 'f50f56eb43babcb16d6778210d84bbc5d13225c745047e746b672ab7f65e01b5',
  'function attributes_at(tenant uuid, asset uuid, until timestamp with time zone)': 'c74944f351d2483d51ef7b2a6476368e0d4fd0ae958c42cdd0c6d7a8dcd9c8bc',
  'function confirmed_shares(mine uuid)': '82e309514294e0b731cbc8797e3665fbb10636e8f536114e780de364251aa7c9',
  'function count_asset_events(tenancy uuid, places text[], names text[], texts text[], most bigint)': 'da41e0487c3674cfae9a8a94f60fe1b7843d7eff77d6a7423201a06670904292',
  'function count_asset_free_events(tenancy uuid, places text[], names text[], texts text[], most bigint)': '097d7846b5936c065b53e8eb6377bf6c19dd87a853f145f949fb5ad07fd1b48a',
  'function count_assets(tenancy uuid, places text[], names text[], texts text[], most bigint)': 'bcd0e5bc1e3ac50baf5df37b2337ac80e14571ea94c10100dade79f07102625d',
  'function find_asset_events(tenancy uuid, places text[], names text[], texts text[], beyond uuid, newest boolean, most integer)': 'be9f31351ee036c1f8149a6e9a6c4ec5d42d668f5b74c0467783374549b3f78b',
  'function find_asset_free_events(tenancy uuid, places text[], names text[], texts text[], beyond uuid, newest boolean, most integer)': '9a661f5734323c8020a6a426993ba9fdc36ebfeb83b434c462a0913f30ffedf1',
  'function find_assets(tenancy uuid, places text[], names text[], texts text[], beyond uuid, newest boolean, most integer)': '6573f0924f61e67e61e238b4d963f3b976e7a54798a206e96ea97c40ca6eabd5',
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
