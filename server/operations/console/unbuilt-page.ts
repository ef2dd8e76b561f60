import { page } from '../../platform/core/html-page.ts';

/** In place of the web application, for whoever opens a control plane of a clone in which nobody has built it. */
export function unbuiltPage(): string {
  return page(
    'The web application is not built',
    `<p>This control plane runs from a clone, where the web application is built once. In the clone:</p>
<pre>npm run build:console</pre>
<p>Then start the control plane again. Agents, the command line and the interface work without it.</p>
<p><a href="/docs">Description of the interface</a></p>`,
  );
}
