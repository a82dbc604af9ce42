import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { shellRoute } from '../../shell/root.tsx'

export const homeRoutes = [
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/console',
    component: lazyRouteComponent(() => import('./home.tsx'), 'HomePage'),
  }),
]
