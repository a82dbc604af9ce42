import type { AppContext } from '../app-env.ts'

/** The page sends its requests to this origin and loads no other resource. */
const POLICY = [
  "default-src 'none'",
  "script-src 'unsafe-inline'",
  "style-src 'unsafe-inline'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

const PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>podplane GraphQL</title>
<style>
body { margin: 1rem auto; max-width: 60rem; padding: 0 1rem; font-family: system-ui, sans-serif; color-scheme: light dark; }
label { display: block; margin-bottom: 1rem; }
input, textarea { box-sizing: border-box; display: block; width: 100%; font-family: monospace; }
pre { overflow: auto; }
</style>
</head>
<body>
<h1>podplane GraphQL</h1>
<form>
<label>API key <input name="key" type="password" autocomplete="off"></label>
<label>Document <textarea name="query" rows="16" spellcheck="false">{ gpuTypes { id displayName } }</textarea></label>
<label>Variables, a JSON object <textarea name="variables" rows="5" spellcheck="false"></textarea></label>
<button>Run</button>
</form>
<pre role="status"></pre>
<script type="module">
const form = document.querySelector('form')
const shown = document.querySelector('pre')

async function answer({ key, query, variables }) {
  const headers = { 'content-type': 'application/json', ...(key && { authorization: 'Bearer ' + key }) }
  const body = JSON.stringify({ query, variables: variables.trim() === '' ? null : JSON.parse(variables) })
  const response = await fetch('/graphql', { method: 'POST', headers, body })
  return JSON.stringify(await response.json(), null, 2)
}

form.addEventListener('submit', async (event) => {
  event.preventDefault()
  shown.textContent = 'Running…'
  shown.textContent = await answer(Object.fromEntries(new FormData(form))).catch(String)
})
</script>
</body>
</html>
`

/** Serves an editor for documents as one HTML page, which needs a key like any client (GQL-31). */
export function editorPage(c: AppContext): Response {
  return c.html(PAGE, 200, { 'Content-Security-Policy': POLICY }) as Response
}
