import { offlinePage } from './offline-page.ts'

// A service worker for the console's own addresses. It keeps nothing and answers nothing but an address that is opened while its plane does not
// answer (adr/0054).

/** Of the library for service workers, which cannot be had beside that of pages, what is used here. */
interface Opened extends Event {
  readonly request: Request
  respondWith(answer: Promise<Response>): void
}
interface WorkerScope {
  addEventListener(type: 'fetch', listener: (event: Opened) => void): void
  addEventListener(type: 'install', listener: () => void): void
  skipWaiting(): Promise<void>
}

// The types of a page know `self` as its window.
const scope = self as unknown as WorkerScope

// A newer one does not wait until every page of the console is closed.
scope.addEventListener('install', () => void scope.skipWaiting())

scope.addEventListener('fetch', (event) => {
  if (event.request.mode !== 'navigate') return
  event.respondWith(fetch(event.request).catch(offlinePage))
})
