// Reloads the page when a script or style sheet fails to load (UI-79): a network change, such as each new container on this machine causes,
// aborts requests in flight, and without one of its scripts the page stays empty. It is a separate script because it must run when the
// others do not.

const KEY = 'podplane.loads'
const WINDOW_MS = 60_000
const MOST_LOADS = 4
const FIRST_WAIT_MS = 300

let isLoading = false

function loadAgain(): void {
  if (isLoading) return
  isLoading = true
  const now = Date.now()
  const recent = (JSON.parse(sessionStorage.getItem(KEY) ?? '[]') as number[]).filter((at) => now - at < WINDOW_MS)
  if (recent.length >= MOST_LOADS) {
    giveUp()
    return
  }
  sessionStorage.setItem(KEY, JSON.stringify([...recent, now]))
  setTimeout(() => location.reload(), FIRST_WAIT_MS * 2 ** recent.length)
}

/** Shows why the console did not load, unless a page is already shown. */
function giveUp(): void {
  const root = document.getElementById('root')
  if (root === null || root.childElementCount > 0) return
  const main = Object.assign(document.createElement('main'), { className: 'mx-auto max-w-lg p-8' })
  main.append(
    Object.assign(document.createElement('h1'), { className: 'text-xl font-semibold', textContent: 'The console did not load' }),
    Object.assign(document.createElement('p'), {
      role: 'alert',
      className: 'my-2',
      textContent: `A file failed to load ${MOST_LOADS} times in a row. The plane may be restarting, or a proxy may block requests.`,
    }),
    Object.assign(document.createElement('a'), { href: location.href, className: 'underline', textContent: 'Reload' }),
  )
  root.append(main)
}

// Error events of elements do not bubble, so the listener captures. Hints such as a preload are not handled: the browser itself requests
// their files again.
addEventListener(
  'error',
  ({ target }) => {
    const isNeeded = target instanceof HTMLScriptElement || (target instanceof HTMLLinkElement && target.rel === 'stylesheet')
    if (isNeeded) loadAgain()
  },
  true,
)
