import { resolve } from 'node:path'
import tailwindcss from '@tailwindcss/vite'
import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

// A production build, whatever the environment sets.
process.env.NODE_ENV = 'production'

/**
 * Console as static files below `/console/`; the names of assets contain a hash of their bytes, except the page, the service worker and
 * `load-again`.
 */
export default defineConfig({
  root: import.meta.dirname,
  base: '/console/',
  plugins: [react(), tailwindcss()],
  build: {
    outDir: resolve(import.meta.dirname, '../../dist/assets/console'),
    emptyOutDir: true,
    // A data URL of a script or style would need a weaker content security policy than 'self'.
    assetsInlineLimit: 0,
    rolldownOptions: {
      input: {
        index: resolve(import.meta.dirname, 'index.html'),
        offline: resolve(import.meta.dirname, 'offline/offline-worker.ts'),
        'load-again': resolve(import.meta.dirname, 'offline/load-again.ts'),
      },
      // Fixed names: a browser finds a new service worker at the old address, and `load-again` must load when hashed names are outdated.
      // The first page names every later chunk, and hashes do not compress: seven characters tell the builds of a chunk apart.
      output: {
        entryFileNames: ({ name }) => (name === 'index' ? 'assets/[name]-[hash].js' : '[name].js'),
        chunkFileNames: 'assets/[name]-[hash:7].js',
      },
    },
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    // test/console/budgets.test.ts checks the relevant limit: bytes on the wire.
    chunkSizeWarningLimit: 1_000,
    target: 'es2023',
  },
  logLevel: 'warn',
})
