import type { FastifySwaggerUiOptions } from '@fastify/swagger-ui';

/** Name, logo and colours of `/docs`. Everything is part of the answers: the page's policy lets it load nothing from elsewhere. */

const INK = '#16191c';
const PAGE = '#fbfbf9';
const LINE = '#cfcfc8';
const ACCENT = '#1a5acb';

/** Two tracks and a signal. */
const MARK = `<path d="M1 4h18v5H1z" fill="${INK}"/><path d="M1 11h7v5H1zM14 11h5v5h-5z" fill="${INK}"/><path d="M9.4 13.6h3.2V16H9.4z" fill="#d23b2e"/>`;
const ICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 20 20"><rect width="20" height="20" rx="3" fill="${PAGE}"/>${MARK}</svg>`;
const LOGO =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 112 20" width="224" height="40">' +
  `${MARK}<text x="27" y="14.8" font-family="system-ui, sans-serif" font-size="14" font-weight="650" fill="${INK}">Signalbox</text></svg>`;

/**
 * The field for another document's address is hidden, and the framework's own logo until ours has taken its place. The framework sets
 * `dark-mode` by the browser's preference and by its switch; our logo is inverted there, with its red kept.
 */
const STYLE = `
.swagger-ui, .swagger-ui .info .title, .swagger-ui .opblock-tag, .swagger-ui .btn, .swagger-ui .opblock .opblock-summary-description {
  font-family: system-ui, sans-serif;
}
.swagger-ui .topbar { border-bottom: 1px solid ${LINE}; padding: 8px 0; }
.swagger-ui .topbar .link svg, .swagger-ui .topbar .download-url-wrapper { display: none; }
.swagger-ui .topbar .topbar-wrapper { justify-content: space-between; }
.dark-mode .swagger-ui .topbar { border-color: #3d444b; }
.dark-mode .swagger-ui .topbar .link img { filter: invert(1) hue-rotate(180deg); }
html:not(.dark-mode) body, html:not(.dark-mode) .swagger-ui .topbar, html:not(.dark-mode) .swagger-ui .scheme-container { background: ${PAGE}; }
html:not(.dark-mode) .swagger-ui .topbar .dark-mode-toggle button svg { fill: ${INK}; }
html:not(.dark-mode) .swagger-ui .info a { color: ${ACCENT}; }
html:not(.dark-mode) .swagger-ui .btn.authorize { border-color: ${ACCENT}; color: ${ACCENT}; }
html:not(.dark-mode) .swagger-ui .btn.authorize svg { fill: ${ACCENT}; }
.swagger-ui .btn.execute { background: ${ACCENT}; border-color: ${ACCENT}; }
.swagger-ui .scheme-container { border-bottom: 1px solid ${LINE}; box-shadow: none; }
`;

/** @param title of the document that the page shows */
export function docsLook(title: string): Pick<FastifySwaggerUiOptions, 'logo' | 'theme' | 'uiConfig'> {
  return {
    // With all operations open Swagger UI draws the first few of a document of this size, and stops.
    uiConfig: { docExpansion: 'none' },
    logo: { type: 'image/svg+xml', content: LOGO, href: '/docs' },
    theme: {
      title: `${title} API`,
      css: [{ filename: 'signalbox.css', content: STYLE }],
      favicon: [{ filename: 'signalbox.svg', rel: 'icon', sizes: 'any', type: 'image/svg+xml', content: ICON }],
    },
  };
}
