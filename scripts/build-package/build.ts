import { glob, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import packageFile from '../../package.json' with { type: 'json' };
import { buildAgent } from '../build-agent/build.ts';
import { buildConsole } from '../build-console/build.ts';
import { compileModule } from './module.ts';

const root = path.resolve(import.meta.dirname, '../..');
const dist = path.join(root, 'dist');
/** What the two commands of the package run. The agent and the console are bundles of their own. */
const PROGRAMS = ['client', 'protocol', 'routeros-text', 'runtime', 'server'];

/**
 * Fills `dist/` with everything that `files` of package.json names: the programs as JavaScript in the tree of their sources, the console,
 * and the agent in one file.
 * @throws Error when package.json does not name exactly the packages that the programs import
 */
export async function buildPackage(): Promise<void> {
  await compilePrograms(dist);
  await buildConsole();
  await buildAgent();
}

/** @throws Error as {@link buildPackage} */
export async function compilePrograms(into: string, dependencies: object = packageFile.dependencies): Promise<void> {
  const imported = new Set<string>();
  for (const program of PROGRAMS) for (const name of await compileProgram(program, into)) imported.add(name);
  compareDependencies(imported, new Set(Object.keys(dependencies)));
}

/** @returns names of the packages it imports */
async function compileProgram(program: string, into: string): Promise<string[]> {
  await rm(path.join(into, program), { recursive: true, force: true });
  const packages: string[] = [];
  for await (const file of glob(`${program}/**/*.*`, { cwd: root, exclude: (name) => name.endsWith('.md') })) {
    const out = path.join(into, file.replace(/\.ts$/, '.js'));
    await mkdir(path.dirname(out), { recursive: true });
    const source = await readFile(path.join(root, file));
    if (!file.endsWith('.ts')) {
      await writeFile(out, source);
      continue;
    }
    const compiled = compileModule(source.toString());
    await writeFile(out, compiled.code);
    packages.push(...compiled.packages);
  }
  return packages;
}

/** A package that is missing breaks an installation; one too many is fetched by everybody, perhaps with an install script. */
function compareDependencies(imported: ReadonlySet<string>, named: ReadonlySet<string>): void {
  const missing = [...imported].filter((name) => !named.has(name));
  const unused = [...named].filter((name) => !imported.has(name));
  if (missing.length > 0) throw new Error(`imported, but not in dependencies of package.json: ${missing.join(', ')}`);
  if (unused.length > 0) throw new Error(`in dependencies of package.json, but only bundled or not used: ${unused.join(', ')}`);
}
