import { resolve } from 'node:path'
import tailwindcss from '@tailwindcss/vite'
import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

// Whatever else runs around it, what is built is what people are served.
process.env.NODE_ENV = 'production'

/** The console as static files below `/console/`; names of all but the page and what stands in for it hold a hash of their bytes. */
export default defineConfig({
  root: import.meta.dirname,
  base: '/console/',
  plugins: [react(), tailwindcss()],
  build: {
    outDir: resolve(import.meta.dirname, '../../dist/assets/console'),
    emptyOutDir: true,
    // A data URL of a script or style would need a weaker policy than 'self'.
    assetsInlineLimit: 0,
    rolldownOptions: {
      input: {
        index: resolve(import.meta.dirname, 'index.html'),
        offline: resolve(import.meta.dirname, 'offline/offline-worker.ts'),
        'load-again': resolve(import.meta.dirname, 'offline/load-again.ts'),
      },
      // A service worker keeps its address, by which a newer one is found; what loads the page again is needed when no other name is right.
      output: { entryFileNames: ({ name }) => (name === 'index' ? 'assets/[name]-[hash].js' : '[name].js') },
    },
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    // test/console/budgets.test.ts holds what counts: bytes on the wire.
    chunkSizeWarningLimit: 1_000,
    target: 'es2023',
  },
  logLevel: 'warn',
})
