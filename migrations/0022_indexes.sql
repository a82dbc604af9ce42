CREATE INDEX `api_keys_parent` ON `api_keys` (`parent`) WHERE "api_keys"."parent" IS NOT NULL;--> statement-breakpoint
CREATE INDEX `teams_runtime_class` ON `teams` (`runtime_class`) WHERE "teams"."runtime_class" IS NOT NULL;--> statement-breakpoint
CREATE INDEX `users_personal_team` ON `users` (`personal_team_id`);