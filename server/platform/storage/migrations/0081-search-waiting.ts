import type { Engine } from '../capabilities.ts';
import type { Migration } from './types.ts';

/**
 * On SQLite, documents wait here until they are in the search index (storage/search-waiting.ts), and searches read the waiting ones, too. The
 * triggers of migration 80 wrote the index with each record: that took 70 us for each of the twenty documents of a new agent, and now takes 28.
 * What an older program stores on this schema waits until a newer one runs.
 */
function statements(engine: Engine): string[] {
  if (engine !== 'sqlite') return [];
  // Not `or ignore`: within a trigger the statement that fires it decides about conflicts.
  const wait = 'insert into search_waiting (n) select new.n where not exists (select 1 from search_waiting where n = new.n);';
  return [
    'create table search_waiting (n integer primary key)',
    'drop trigger search_documents_added',
    'drop trigger search_documents_changed',
    'drop trigger search_documents_removed',
    `create trigger search_documents_added after insert on search_documents begin ${wait} end`,
    `create trigger search_documents_changed after update on search_documents
      when old.content <> new.content or old.place is not new.place begin ${wait} end`,
    `create trigger search_documents_removed after delete on search_documents begin
      delete from search_waiting where n = old.n; delete from search_index where rowid = old.n; end`,
  ];
}

export const searchWaiting: Migration = { number: 81, name: 'search waiting', expands: true, statements };
