import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { App } from './app/app.tsx'
import './styles.css'

const root = document.getElementById('root')
if (root === null) throw new Error('index.html has no element for the console')
// What it answers while the plane is gone is its one task; without it the browser says that in its own words.
// A browser has none where the page came over http from another machine.
if ('serviceWorker' in navigator) void navigator.serviceWorker.register('/console/offline.js', { scope: '/console' }).catch(() => undefined)
createRoot(root).render(
  <StrictMode>
    <App />
  </StrictMode>,
)
