CREATE TABLE `plans` (
	`name` text PRIMARY KEY NOT NULL,
	`limits` text NOT NULL,
	`updated_at` integer NOT NULL
);
--> statement-breakpoint
ALTER TABLE `teams` ADD `plan` text REFERENCES plans(name);--> statement-breakpoint
ALTER TABLE `teams` ADD `maker_team_id` text REFERENCES teams(id);--> statement-breakpoint
CREATE INDEX `teams_plan` ON `teams` (`plan`);--> statement-breakpoint
CREATE INDEX `teams_maker` ON `teams` (`maker_team_id`);--> statement-breakpoint
UPDATE `teams` SET `maker_team_id` = (SELECT u.`personal_team_id` FROM `memberships` m JOIN `users` u ON u.`id` = m.`user_id`
	WHERE m.`team_id` = `teams`.`id` AND m.`role` = 'OWNER' ORDER BY m.`created_at`, m.`user_id` LIMIT 1)
	WHERE `kind` = 'ORGANIZATION';
