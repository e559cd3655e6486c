module tranche.example/tranche

go 1.23
