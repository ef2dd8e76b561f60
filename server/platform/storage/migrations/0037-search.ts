import { capabilities, type Engine } from '../capabilities.ts';
import { END, MOST_INDEXED_CHARS, placeSql, scopeSql, SEARCH_KINDS, START } from '../search-text.ts';
import type { SearchKind } from '../search-text.ts';
import type { Migration } from './types.ts';

/**
 * The index for searches (storage/search.ts). Views define its content, and triggers update it with every write, so it is not part of an
 * export: an import fills it.
 */
function statements(engine: Engine): string[] {
  return [
    ...documents(engine),
    ...views(),
    ...(Object.keys(SEARCH_KINDS) as SearchKind[]).map((kind) => indexRecords(kind, 'true', 'first_at, record_id')),
    ...triggers(engine),
    'create index devices_by_site on devices (team_id, site_id, first_seen_at, id)',
    // Newest first within a description. Jobs are too many, and have too little text, for the index above.
    'create index jobs_by_description on jobs (team_id, lower(description), created_at desc, id desc)',
  ];
}

function documents(engine: Engine): string[] {
  const { text } = capabilities[engine];
  const n = engine === 'sqlite' ? 'n integer primary key' : 'n bigint generated always as identity primary key';
  return [
    `create table search_documents (${n}, kind ${text} not null, team_id ${text} not null, record_id ${text} not null,
      place ${text}, content ${text} not null)`,
    'create unique index search_documents_by_record on search_documents (kind, record_id)',
    ...(engine === 'sqlite' ? sqliteIndex() : postgresIndex()),
  ];
}

/** Holds no text of its own: a row has the number of its document. Parts of texts are words of hexadecimal digits, in their order. */
function sqliteIndex(): string[] {
  const scope = scopeSql('new.kind', 'new.team_id');
  const words = `(with recursive parts (i) as (select 1 union all select i + 1 from parts where i < length(new.content) - 2)
    select group_concat(${scope} || hex(substr(new.content, i, 3)), ' ') from parts)`;
  const add = `insert into search_index (rowid, place, content) values (new.n, ${scope} || ${placeSql('new.place')}, ${words});`;
  const remove = 'delete from search_index where rowid = old.n;';
  return [
    "create virtual table search_index using fts5 (place, content, content = '', contentless_delete = 1, tokenize = 'ascii')",
    `create trigger search_documents_added after insert on search_documents begin ${add} end`,
    `create trigger search_documents_changed after update on search_documents
      when old.content <> new.content or old.place is not new.place begin ${remove} ${add} end`,
    `create trigger search_documents_removed after delete on search_documents begin ${remove} end`,
  ];
}

/** Needs no PostgreSQL extension. */
function postgresIndex(): string[] {
  const scope = scopeSql('kind', 'team_id');
  return [
    `create function search_tokens(kind text, team_id text, place text, content text) returns text[] language sql immutable parallel safe as
      $$ select array_append(array(select distinct ${scope} || substr(content, i, 3) from generate_series(1, length(content) - 2) as i),
        ${scope} || ${placeSql('place')}) $$`,
    // The list of what is not yet in the index is read at every search: 256 kB instead of 4 MB.
    `create index search_documents_by_token on search_documents using gin (search_tokens(kind, team_id, place, content))
      with (gin_pending_list_limit = 256)`,
    'create index search_documents_by_team on search_documents (team_id, kind, n)',
  ];
}

const field = (value: string): string => `coalesce('${START}${START}' || lower(${value}) || '${END}', '')`;
const fields = (...values: string[]): string => `substr(${values.map(field).join(' || ')}, 1, ${MOST_INDEXED_CHARS})`;

function views(): string[] {
  const view = (kind: SearchKind, content: string, from: string, place = 'null', table = `${kind}s`): string =>
    `create view searched_${kind}s as select ${table}.id as record_id, ${table}.team_id, ${place} as place, ${content} as content,
      ${table}.${kind === 'device' ? 'first_seen_at' : 'created_at'} as first_at from ${from}`;
  const addresses = `(select string_agg(${field('ip_address')}, '') from
    (select distinct ip_address from device_sightings where device_id = devices.id and ip_address is not null) as seen)`;
  const aliased = `devices left join device_aliases on device_aliases.team_id = devices.team_id and device_aliases.mac = devices.mac`;
  return [
    view(
      'router',
      fields('identity', 'serial_number', 'software_id', 'model', 'board_name', 'software_version'),
      'routers where removed_at is null',
    ),
    view('agent', fields('name'), 'agents where removed_at is null'),
    view('site', fields('name'), 'sites'),
    view('campaign', fields('description'), 'campaigns'),
    view(
      'device',
      `substr(${['hostname', 'alias', 'manufacturer', 'devices.mac'].map(field).join(' || ')} || coalesce(${addresses}, ''), 1, ${MOST_INDEXED_CHARS})`,
      aliased,
      'devices.site_id',
    ),
  ];
}

/** Writes what the index has of some records. */
function indexRecords(kind: SearchKind, condition: string, order = 'record_id'): string {
  return `insert into search_documents (kind, team_id, record_id, place, content)
    select '${kind}', team_id, record_id, place, content from searched_${kind}s where ${condition} order by ${order}
    on conflict (kind, record_id) do update set place = excluded.place, content = excluded.content`;
}

function triggers(engine: Engine): string[] {
  const on = (name: string, event: string, condition: string, ...body: string[]): string[] =>
    engine === 'sqlite'
      ? [
          `create trigger ${name} after ${event} ${condition && `when ${condition}`} begin ${body.map((statement) => `${statement};`).join(' ')} end`,
        ]
      : [
          `create function ${name}() returns trigger language plpgsql as
            $$ begin ${body.map((statement) => `${statement};`).join(' ')} return null; end $$`,
          `create trigger ${name} after ${event} for each row ${condition && `when (${condition})`} execute function ${name}()`,
        ];
  const changed = (...columns: string[]): string => columns.map((column) => `old.${column} is distinct from new.${column}`).join(' or ');
  const forget = (kind: SearchKind, id: string): string => `delete from search_documents where kind = '${kind}' and record_id = ${id}`;

  const added = (kind: SearchKind): string[] =>
    on(`search_${kind}_added`, `insert on ${kind}s`, '', indexRecords(kind, 'record_id = new.id'));
  const changes = (kind: SearchKind, columns: string[]): string[] => [
    ...on(
      `search_${kind}_changed`,
      `update of ${columns.join(', ')} on ${kind}s`,
      changed(...columns),
      ...(columns.includes('removed_at') ? [`${forget(kind, 'new.id')} and new.removed_at is not null`] : []),
      indexRecords(kind, 'record_id = new.id'),
    ),
    ...on(`search_${kind}_deleted`, `delete on ${kind}s`, '', forget(kind, 'old.id')),
  ];
  const withMac = (row: 'new' | 'old'): string =>
    indexRecords('device', `record_id in (select id from devices where team_id = ${row}.team_id and mac = ${row}.mac)`);
  const seen = (row: 'new' | 'old'): string => indexRecords('device', `record_id = ${row}.device_id`);
  return [
    ...(['router', 'agent', 'site', 'campaign'] as const).flatMap(added),
    ...changes('router', ['identity', 'serial_number', 'software_id', 'model', 'board_name', 'software_version', 'removed_at']),
    ...changes('agent', ['name', 'removed_at']),
    ...changes('site', ['name']),
    ...changes('campaign', ['description']),
    // A device is stored with its first sighting, and indexed once, by that.
    ...changes('device', ['hostname', 'manufacturer', 'site_id']),
    ...on('search_alias_added', 'insert on device_aliases', '', withMac('new')),
    ...on('search_alias_changed', 'update of alias on device_aliases', changed('alias'), withMac('new')),
    ...on('search_alias_deleted', 'delete on device_aliases', '', withMac('old')),
    ...on('search_sighting_added', 'insert on device_sightings', '', seen('new')),
    ...on(
      'search_sighting_changed',
      'update of ip_address, device_id on device_sightings',
      changed('ip_address', 'device_id'),
      seen('old'),
      seen('new'),
    ),
    ...on('search_sighting_deleted', 'delete on device_sightings', 'old.ip_address is not null', seen('old')),
  ];
}

export const search: Migration = { number: 37, name: 'search', statements };
