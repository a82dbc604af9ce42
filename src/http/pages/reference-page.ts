import type { AppContext } from '../app-env.ts'
import { notElsewhere, scriptSource } from './script-source.ts'

/** The page's script among the static assets of the build. */
const SCRIPT_PATH = '/reference/redoc.standalone.js'

/**
 * All resources come from this origin. The page switches off the renderer's usage reports, and this policy blocks them even if a later
 * version ignores that setting.
 */
const POLICY = [
  "default-src 'none'",
  "style-src 'unsafe-inline'",
  "connect-src 'self'",
  "img-src 'self' data:",
  "font-src 'self' data:",
  'worker-src blob:',
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

const PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>podplane API reference</title>
<style>body { margin: 0; font-family: system-ui, sans-serif; }</style>
</head>
<body>
<redoc spec-url="/v2/openapi.json" disable-telemetry="true"></redoc>
<noscript>The document itself is at <a href="/v2/openapi.json">/v2/openapi.json</a>.</noscript>
<script type="module" src="${SCRIPT_PATH}"></script>
</body>
</html>
`

/** Serves the API reference as an HTML page. */
export function referencePage(c: AppContext): Response {
  const policy = `${POLICY}; ${scriptSource(c.req.url, [SCRIPT_PATH])}`
  return c.html(PAGE, 200, { 'Content-Security-Policy': policy, 'Referrer-Policy': 'no-referrer' })
}

/** Serves the page's script from the static assets. */
export async function referenceScript(c: AppContext): Promise<Response> {
  const asset = notElsewhere(await c.env.ASSETS.fetch(c.req.raw))
  // Asset responses have immutable headers, and the request id is added to every response.
  return new Response(asset.body, asset)
}
