module tranche.example/bench

go 1.23

require tranche.example/tranche v0.0.0

replace tranche.example/tranche => ../../../sdks/go
