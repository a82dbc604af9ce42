import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { shellRoute } from '../../shell/root.tsx'

export const usageRoutes = [
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/console/usage',
    component: lazyRouteComponent(() => import('./usage.tsx'), 'UsagePage'),
  }),
]
