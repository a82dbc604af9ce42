import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { App } from './app/app.tsx'
import './styles.css'

const root = document.getElementById('root')
if (root === null) throw new Error('index.html has no element for the console')
createRoot(root).render(
  <StrictMode>
    <App />
  </StrictMode>,
)
