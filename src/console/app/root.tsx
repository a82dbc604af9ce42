import { createRootRoute, createRoute, Outlet } from '@tanstack/react-router'
import { Shell } from './shell.tsx'

export const rootRoute = createRootRoute({ component: Outlet })

/** Everything that needs a session stands below it. */
export const shellRoute = createRoute({ getParentRoute: () => rootRoute, id: 'shell', component: Shell })
