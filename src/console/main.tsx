import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { App } from './app/app.tsx'
import './styles.css'

const root = document.getElementById('root')
if (root === null) throw new Error('index.html has no element for the console')
// The service worker only serves a page while the plane does not answer; without it the browser shows its own error page. It is unavailable
// on pages loaded over http from another machine.
if ('serviceWorker' in navigator) void navigator.serviceWorker.register('/console/offline.js', { scope: '/console' }).catch(() => undefined)
createRoot(root).render(
  <StrictMode>
    <App />
  </StrictMode>,
)
