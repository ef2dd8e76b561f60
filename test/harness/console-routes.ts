import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';

const PAGES = path.resolve(import.meta.dirname, '../../console/src/pages');
const ROUTE = /^const (\w+) = createRoute\(\{\s+getParentRoute: \(\) => (\w+),\s+path: '([^']*)'/gm;

/**
 * Every address of the web application with its parameters, as `/jobs/$routerId/$jobId`, read from the `routes.ts` of its areas: the modules
 * themselves need a browser. A page that is added there is in here.
 * @throws for a route that is written in another way, so that none is overlooked
 */
export function consoleRoutes(): string[] {
  const files = globSync('*/routes.ts', { cwd: PAGES });
  return files.flatMap((file) => routesOf(file, readFileSync(path.join(PAGES, file), 'utf8')));
}

function routesOf(file: string, text: string): string[] {
  const routes = [...text.matchAll(ROUTE)].map(([, name, parent, own]) => ({ name: name!, parent: parent!, own: own! }));
  const written = text.split('createRoute({').length - 1;
  if (routes.length !== written) throw new Error(`${file} has ${written} routes, and ${routes.length} of them can be read`);
  const addressOf = (name: string): string => {
    if (name === 'root') return '';
    const route = routes.find((one) => one.name === name);
    if (!route) throw new Error(`${file} has no route ${name}`);
    return `${addressOf(route.parent)}${route.own === '/' ? '' : route.own}`;
  };
  return [...new Set(routes.map(({ name }) => addressOf(name) || '/'))];
}
