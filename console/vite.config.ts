import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

/** The address of a control plane for `vite dev`; its SIGNALBOX_PUBLIC_URL must be the address of the development server. */
const CONTROL_PLANE = 'http://127.0.0.1:8080';

export default defineConfig({
  root: import.meta.dirname,
  plugins: [react()],
  // The server puts a nonce of its own into each answer (server/operations/console/).
  html: { cspNonce: '__NONCE__' },
  build: {
    outDir: '../dist/console',
    emptyOutDir: true,
    target: 'es2024',
    // The policy allows no data: addresses, and every browser of that target preloads modules.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    rolldownOptions: {
      // The terminal is a document of its own, with a policy of its own.
      input: {
        index: `${import.meta.dirname}/index.html`,
        terminal: `${import.meta.dirname}/terminal.html`,
        // Alone: it imports nothing, and its address never changes.
        'push-worker': `${import.meta.dirname}/src/push/worker.ts`,
      },
      output: { entryFileNames: ({ name }) => (name === 'push-worker' ? 'push-worker.js' : 'assets/[name]-[hash].js') },
      onwarn(warning) {
        // Only tells that this machine is busy.
        if (warning.code === 'PLUGIN_TIMINGS') return;
        // Among others: a module of Node in the bundle, which would be empty in the browser.
        throw new Error(warning.message);
      },
    },
  },
  server: { proxy: { '^/(api|oidc|arp|docs|openapi.json|healthz|readyz)': { target: CONTROL_PLANE, ws: true } } },
});
