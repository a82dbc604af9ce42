/** Interval at which the offline page checks whether the plane answers, milliseconds. */
const AGAIN_MS = 3_000

const STYLE = `:root{color-scheme:light dark}
body{margin:0;min-height:100dvh;display:grid;place-content:center;font:14px/1.5 ui-sans-serif,system-ui,sans-serif;background:light-dark(#f7f7f9,#0e0f13);color:light-dark(#16181f,#eceef4)}
main{max-width:28rem;padding:2rem}
h1{font-size:1.25rem;margin:0}
a{color:light-dark(#4338ca,#a5b4fc)}`

const SCRIPT = `setInterval(async()=>{if(document.hidden)return
const answer=await fetch('/console',{method:'HEAD',cache:'no-store'}).catch(()=>null)
if(answer&&answer.ok)location.reload()},${AGAIN_MS})`

/** Page at any address of the console while the plane does not answer. It reloads the requested address once the plane answers. */
export function offlinePage(): Response {
  const nonce = crypto.randomUUID()
  const html = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>No answer · podplane</title>
<style>${STYLE}</style>
<main>
<h1>The plane does not answer</h1>
<p role="status">The plane may be starting, or the connection to it may be broken. Workloads on its machines keep running. This page reloads when the plane answers.</p>
<p><a href="">Try again now</a></p>
</main>
<script nonce="${nonce}">${SCRIPT}</script>
</html>`
  const policy = `default-src 'none'; style-src 'unsafe-inline'; script-src 'nonce-${nonce}'; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'`
  return new Response(html, {
    status: 503,
    headers: { 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-store', 'content-security-policy': policy },
  })
}
