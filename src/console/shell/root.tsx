import { createRootRoute, createRoute, Outlet } from '@tanstack/react-router'
import { Shell } from './shell.tsx'

export const rootRoute = createRootRoute({ component: Outlet })

/** Parent of all routes that need a session. */
export const shellRoute = createRoute({ getParentRoute: () => rootRoute, id: 'shell', component: Shell })
