import { offlinePage } from './offline-page.ts'

// Service worker for the console's addresses. It stores nothing and answers only navigation requests that the plane does not answer
// (adr/0054).

/** The part of the service worker types that is used here; that library cannot be loaded beside the DOM library. */
interface Opened extends Event {
  readonly request: Request
  respondWith(answer: Promise<Response>): void
}
interface WorkerScope {
  addEventListener(type: 'fetch', listener: (event: Opened) => void): void
  addEventListener(type: 'install', listener: () => void): void
  skipWaiting(): Promise<void>
}

// The DOM types declare `self` as a window.
const scope = self as unknown as WorkerScope

// A new version takes over without waiting until all pages of the console are closed.
scope.addEventListener('install', () => void scope.skipWaiting())

scope.addEventListener('fetch', (event) => {
  if (event.request.mode !== 'navigate') return
  event.respondWith(fetch(event.request).catch(offlinePage))
})
