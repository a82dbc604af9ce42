import { createRoute } from '@tanstack/react-router'
import { rootRoute } from '../../app/root.tsx'
import { SignInPage } from './sign-in-page.tsx'

export const signInRoutes = [createRoute({ getParentRoute: () => rootRoute, path: '/console/sign-in', component: SignInPage })]
