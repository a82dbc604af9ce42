import { Toast } from '@base-ui/react/toast'
import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { Toasts } from '../parts/over/toasts.tsx'
import { router } from './router.tsx'

// The API client has already retried where that is safe, so a query does not retry.
const queries = new QueryClient({ defaultOptions: { queries: { retry: false, staleTime: 2_000 }, mutations: { retry: false } } })

/** Renders the console: its pages and its brief notices. */
export function App() {
  return (
    <QueryClientProvider client={queries}>
      <Toast.Provider timeout={8_000}>
        <RouterProvider router={router} />
        <Toasts />
      </Toast.Provider>
    </QueryClientProvider>
  )
}
