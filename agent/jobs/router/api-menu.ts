import { parseBytes } from '../../../routeros-text/values.ts';
import type { Deadline, RouterAdapter, RouterRow } from '../../routers/adapter.ts';
import type { RouterMenu } from './menu.ts';

/** {@link RouterMenu} over the RouterOS API. */
export function apiMenu(router: RouterAdapter): RouterMenu {
  const run = async (path: string, words: string[], deadline: Deadline): Promise<RouterRow[]> =>
    (await router.command({ path, words }, deadline)).rows;
  const find = (menu: string, property: string, value: string, deadline: Deadline): Promise<RouterRow[]> =>
    run(`${menu}/print`, [`?=${property}=${value}`, '=.proplist=.id'], deadline);

  async function removeAll(menu: string, property: string, value: string, deadline: Deadline): Promise<void> {
    for (const row of await find(menu, property, value, deadline)) {
      if (row['.id'] !== undefined) await run(`${menu}/remove`, [`=.id=${row['.id']}`], deadline);
    }
  }

  return {
    readScript: async (name, deadline) => {
      const words = [`?=name=${name}`, '=.proplist=name,source'];
      const [row] = await run('/system/script/print', words, deadline);
      return row && (row['source'] ?? '');
    },
    writeScript: async (name, source, deadline) => {
      const [row] = await find('/system/script', 'name', name, deadline);
      const target = row?.['.id'];
      const words = target === undefined ? [`=name=${name}`] : [`=.id=${target}`];
      await run(`/system/script/${target === undefined ? 'add' : 'set'}`, [...words, `=source=${source}`], deadline);
    },
    removeScript: (name, deadline) => removeAll('/system/script', 'name', name, deadline),
    isRunning: async (name, deadline) => (await find('/system/script/job', 'script', name, deadline)).length > 0,
    stopScript: (name, deadline) => removeAll('/system/script/job', 'script', name, deadline),
    addEntry: async ({ name, everySeconds, startDate, source, policy }, deadline) => {
      const when = [`=start-date=${startDate}`, '=start-time=00:00:00', `=interval=${everySeconds}s`];
      await run('/system/scheduler/add', [`=name=${name}`, ...when, `=on-event=${source}`, `=policy=${policy}`], deadline);
    },
    findEntry: async (name, deadline) => {
      const words = [`?=name=${name}`, '=.proplist=run-count,next-run,disabled,on-event'];
      const [row] = await run('/system/scheduler/print', words, deadline);
      const { 'run-count': runCount, 'next-run': nextRun = '', disabled, 'on-event': source = '' } = row ?? {};
      return row && { runCount: Number(runCount ?? '0'), nextRun, disabled: disabled === 'true', source };
    },
    removeEntry: (name, deadline) => removeAll('/system/scheduler', 'name', name, deadline),
    listEntries: async (containing, deadline) => {
      const rows = await run('/system/scheduler/print', ['=.proplist=name'], deadline);
      return rows.map((row) => row['name'] ?? '').filter((name) => name.includes(containing));
    },
    saveBackup: async (name, deadline) => {
      await run('/system/backup/save', [`=name=${name}`, '=dont-encrypt=yes'], deadline);
    },
    saveExport: async (name, deadline) => {
      await run('/export', [`=file=${name}`], deadline);
    },
    listFiles: async (containing, deadline) => {
      const rows = await run('/file/print', ['=.proplist=name'], deadline);
      return rows.map((row) => row['name'] ?? '').filter((name) => name.includes(containing));
    },
    removeFile: (name, deadline) => removeAll('/file', 'name', name, deadline),
    fileSize: async (name, deadline) => {
      const [row] = await run('/file/print', [`?=name=${name}`, '=.proplist=name,size'], deadline);
      return row && (parseBytes(row['size']) ?? 0);
    },
  };
}
