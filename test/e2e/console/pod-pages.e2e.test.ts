import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createApiClient } from '../../../src/client/client.ts'
import { BUILD_TIMEOUT_MS, busyboxImage } from '../support/agent/worker-image.ts'
import { hostIsOnline, startPlane, type TestPlane } from '../support/plane/plane.ts'
import { podBody, TestPod } from '../support/plane/pods.ts'
import { openBrowser, Visitor } from './support/browser.ts'

// Pages of a pod on the plane's own origin, in the browser of a user who is signed in there. The plane has no domain for pods.

/** Answers with the text in its address, byte for byte. */
const ANSWER = 'read -r m p r; while read -r l && [ ${#l} -gt 1 ]; do :; done; echo "${p##*/}" | busybox tr _- /+ | busybox base64 -d'
const SERVE = 'trap "exit 0" TERM; busybox nc -ll -p 8888 -e /bin/busybox sh -c "$ANSWER" & wait $!'
/** A result that is missing after this time never arrives. */
const GIVEN_UP_MS = 3_000
/** A successful read ends by itself, on a busy machine too. */
const SLOWEST_MS = 60_000

/** Bodies of functions that a page runs: each returns what it has read or obtained, as it does on a page of the plane itself. */
const READS: Readonly<Record<string, string>> = {
  'a cookie': "document.cookie = 'a=b'; return document.cookie",
  'local storage': 'return localStorage.length + 1',
  'session storage': 'return sessionStorage.length + 1',
  'a database': "return indexedDB.open('a')",
  'a cache': "return await caches.open('a')",
  'the files of the origin': 'return await navigator.storage.getDirectory()',
  'the account': "return await read('/v2/user')",
  'the session': "return await read('/console/session')",
  'the console': "return await read('/console')",
  'all accounts': "return await read('/admin/v1/users')",
  'the account, in the old way': "const x = new XMLHttpRequest(); x.open('GET', '/v2/user', false); x.send(); return x.responseText",
  'a service worker': "return await navigator.serviceWorker.register('/console/offline.js', { scope: '/console' })",
  'a shared worker': "return new SharedWorker('/console/offline.js')",
  'a terminal': `const s = new WebSocket('ws://' + location.host + '/v2/pods/' + pod + '/exec?command=id', 'v5.channel.k8s.io')
    return await new Promise((end) => { s.onopen = end; s.onerror = () => end(null) })`,
  'a tab with the console': `const tab = open('/console'); await new Promise((end) => after(1000, end))
    try { return tab.document.documentElement.outerHTML } finally { tab.close() }`,
}
/**
 * Reads by way of other windows. A page of the plane itself obtains nothing this way: the console's policy lets it neither frame pages nor
 * inject scripts.
 */
const REACHES: Readonly<Record<string, string>> = {
  'a frame with the console': "return (await frame({ src: '/console' })).contentDocument?.documentElement.outerHTML",
  'who opened it': "opener.location = '/console/keys'; return opener.document.documentElement.outerHTML",
  'storage, from a document in it': "return await told({ srcdoc: '<script>' + TELL + '</' + 'script>' })",
  'storage, from a document made by it':
    "return await told({ src: URL.createObjectURL(new Blob(['<script>' + TELL + '</' + 'script>'], { type: 'text/html' })) })",
}
/** Requests that try to change something and do not read the answer. */
const CHANGES: Readonly<Record<string, string>> = {
  'plants a session': "document.cookie = 'podplane-session=planted; path=/'",
  'signs in as another, by a form': "await post('/console/session', { key })",
  'terminates a pod, by a form': "await post('/v2/pods/' + pod + '/action', { action: 'terminate' })",
  'makes a key, by a form': "await post('/v2/account/keys', { name: 'planted' })",
  'terminates a pod, unheard': "await fetch('/v2/pods/' + pod + '/action', blind({ action: 'terminate' }))",
  'terminates a pod by GraphQL, unheard': `await fetch('/graphql', blind({ query: 'mutation { podTerminate(input: { podId: "' + pod + '" }) }' }))`,
  'terminates a pod, leaving': "navigator.sendBeacon('/v2/pods/' + pod + '/action', JSON.stringify({ action: 'terminate' }))",
  'signs in as another': "await fetch('/console/session', marked('POST', { key }))",
  'signs out': "await fetch('/console/session', marked('DELETE'))",
}
const TOOLS = `
  const after = (ms, end) => void setTimeout(end, ms)
  const TELL = 'let it = null; try { it = localStorage.length + 1 } catch {} parent.postMessage(it, "*")'
  const element = (name, members) => Object.assign(document.createElementNS('http://www.w3.org/1999/xhtml', name), members)
  const put = (one) => document.documentElement.appendChild(one)
  const read = async (path) => (await fetch(path, { credentials: 'include' })).text()
  const frame = (members) => new Promise((end) => { const one = element('iframe', members); one.onload = () => end(one); put(one) })
  const told = (members) => new Promise((end) => {
    const one = element('iframe', members)
    addEventListener('message', ({ source, data }) => source === one.contentWindow && end(data))
    put(one)
  })
  const blind = (body) => ({ method: 'POST', mode: 'no-cors', credentials: 'include', body: JSON.stringify(body) })
  const marked = (method, body) => ({ method, credentials: 'include', body: body && JSON.stringify(body),
    headers: { 'x-requested-with': 'podplane', 'content-type': 'application/json' } })
  const form = (action, body) => {
    const one = element('form', { action, method: 'post', enctype: 'text/plain' })
    const [name, value] = JSON.stringify({ ...body, x: '=' }).split('=')
    one.append(element('input', { name, value }))
    return put(one)
  }
  const post = async (action, body) => {
    const one = form(action, body)
    const answer = frame({ name: action })
    one.target = action
    one.submit()
    await answer
  }`

/** Runs all of them concurrently; `got` names those that have obtained something. */
const scriptOf = (tries: Readonly<Record<string, string>>, { pod, key }: { pod: string; key: string }, givenUpMs = GIVEN_UP_MS) => `
  const [pod, key] = ${JSON.stringify([pod, key])}
  ${TOOLS}
  window.got = (async () => {
    const tries = { ${Object.entries(tries).map(([name, code]) => `${JSON.stringify(name)}: async () => { ${code} }`)} }
    const late = new Promise((end) => after(${givenUpMs}, end))
    const names = await Promise.all(Object.entries(tries).map(async ([name, run]) => {
      const it = await Promise.race([run().catch(() => null), late])
      return it ? [name] : []
    }))
    return names.flat()
  })()`

const XHTML = 'xmlns="http://www.w3.org/1999/xhtml"'
const html = (script: string) => `<!doctype html><body><script>${script}</script></body>`
const xml = (tag: string, attributes: string, script: string) => `<${tag} ${attributes}><script><![CDATA[${script}]]></script></${tag}>`
const SPEAKING = [
  ...['Content-Type: text/html', 'Set-Cookie: podplane-session=planted; Path=/', 'Clear-Site-Data: "*"', 'Service-Worker-Allowed: /'],
  ...['Content-Security-Policy: sandbox allow-scripts allow-same-origin', 'Access-Control-Allow-Credentials: true'],
]

interface Shown {
  status?: string
  headers: readonly string[]
  body: (script: string) => string
  /** Whether a browser treats the answer as a document with scripts. */
  runs: boolean
}
const PAGES: Readonly<Record<string, Shown>> = {
  HTML: { headers: ['Content-Type: text/html'], body: html, runs: true },
  'HTML of an error': { status: '404 Not Found', headers: ['Content-Type: text/html'], body: html, runs: true },
  'HTML whose headers speak for the origin': { headers: SPEAKING, body: html, runs: true },
  SVG: { headers: ['Content-Type: image/svg+xml'], body: (script) => xml('svg', 'xmlns="http://www.w3.org/2000/svg"', script), runs: true },
  XHTML: { headers: ['Content-Type: application/xhtml+xml'], body: (script) => xml('html', XHTML, script), runs: true },
  XML: { headers: ['Content-Type: text/xml'], body: (script) => xml('html', XHTML, script), runs: true },
  'HTML without a type': { headers: [], body: html, runs: false },
  'HTML as text': { headers: ['Content-Type: text/plain'], body: html, runs: false },
}
/** Navigations of the whole tab to addresses of the plane. */
const LEAVES: Readonly<Record<string, string>> = {
  'to the session': "location.href = '/console/session'",
  'to the sign-in, with a key': "form('/console/session', { key }).submit()",
  'to the end of a pod': "form('/v2/pods/' + pod + '/action', { action: 'terminate' }).submit()",
}

const TRIES = { ...READS, ...REACHES, ...CHANGES }
const VECTORS = Object.keys(PAGES).length * Object.keys(TRIES).length + Object.keys(LEAVES).length

describe('a page of a pod below /proxy/', () => {
  let plane: TestPlane
  let browser: Browser
  let pod: TestPod
  let visitor: Visitor
  let known: { pod: string; key: string }
  beforeAll(async () => {
    const image = await busyboxImage()
    const started = startPlane({ args: ['--simulate-gpus', 'NVIDIA L4:1'], env: { POD_PROXY_DOMAIN: '' } })
    ;[plane, browser] = await Promise.all([started, openBrowser()])
    await hostIsOnline(plane)
    pod = await TestPod.run(plane, podBody(image, SERVE, { ports: ['8888/http'], env: { ANSWER } }))
    visitor = await Visitor.open(browser, plane)
    await visitor.signInByLink(plane)
    const operator = createApiClient(plane.url, plane.operatorKey)
    const attacker = await operator.createUser({ body: { email: 'attacker@example.com' } })
    known = { pod: pod.id, key: (await operator.createKey({ path: { id: attacker.id }, body: { name: 'attacker' } })).key }
  }, BUILD_TIMEOUT_MS)
  afterAll(async () => {
    await browser?.close()
    await pod?.terminate()
    await plane?.stop()
  })

  /** The state of the victim, and all actions in their name. */
  const victim = async () => {
    const api = createApiClient(plane.url, plane.apiKey)
    const session = await visitor.context.request.get(`${plane.url}/console/session`)
    const [user, audit, { status }] = await Promise.all([api.getUser(), api.listAudit(), pod.get()])
    const workers = visitor.context.serviceWorkers().map((one) => one.url())
    return { cookies: await visitor.context.cookies(), session: await session.json(), user, audit, status, workers, at: visitor.page.url() }
  }

  /** Opens a page of the pod as the victim does from the console. */
  const visit = async ({ status = '200 OK', headers, body }: Omit<Shown, 'runs'>, script: string): Promise<Page> => {
    const answer = [`HTTP/1.1 ${status}`, ...headers, 'Connection: close', '', body(script)].join('\r\n')
    const path = Buffer.from(answer).toString('base64').replaceAll('/', '_').replaceAll('+', '-')
    const opened = visitor.context.waitForEvent('page')
    await visitor.page.evaluate(`void open('/proxy/${pod.id}/8888/${path}')`)
    const tab = await opened
    await tab.waitForLoadState()
    return tab
  }

  test(`[S7] [NET-13] [SESSION-6] reads nothing of the plane and changes nothing, in ${VECTORS} ways`, async () => {
    const before = await victim()
    const got: Record<string, unknown> = {}
    for (const [name, page] of Object.entries(PAGES)) {
      const tab = await visit(page, scriptOf(TRIES, known))
      got[name] = await tab.evaluate('window.got ?? null')
      await tab.close()
    }
    expect(got).toEqual(Object.fromEntries(Object.entries(PAGES).map(([name, { runs }]) => [name, runs ? [] : null])))
    for (const code of Object.values(LEAVES)) {
      const tab = await visit({ headers: ['Content-Type: text/html'], body: html }, `${scriptOf({}, known)}; ${code}`)
      await tab.waitForURL((url) => !url.pathname.startsWith('/proxy/'))
      await tab.close()
    }
    expect(await victim()).toEqual(before)
  })

  test(`[S7] the first ${Object.keys(READS).length} of these succeed in a page of the plane itself, so each would show`, async () => {
    await visitor.page.evaluate(`{ ${scriptOf(READS, known, SLOWEST_MS)} }`)
    expect(await visitor.page.evaluate('window.got')).toEqual(Object.keys(READS))
  })
})
